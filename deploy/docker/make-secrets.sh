#!/bin/sh
# Makes what compose.yaml reads: two API keys (the server gets only their hashes), a password and a pepper.
# Run it once, in the clone: sh deploy/docker/make-secrets.sh
set -eu
cd "$(dirname "$0")"
catraca="node ../../bin/catraca.js"
if [ -e secrets ]; then
  echo "deploy/docker/secrets is there already: remove it first, if you want others" >&2
  exit 1
fi
mkdir -m 0700 secrets
admin=$($catraca key generate admin --scopes admin)
prometheus=$($catraca key generate prometheus --scopes read)
part() { echo "$1" | sed -n "s/^$2 *//p"; }
echo "[$(part "$admin" entry),$(part "$prometheus" entry)]" > secrets/keys
part "$prometheus" key > secrets/prometheus-token
random() { node -p 'crypto.randomBytes(32).toString("hex")'; }
random > secrets/redis-password
random > secrets/pepper
# Containers read them as users of their own; the directory keeps everybody else out.
chmod 0444 secrets/*
echo "The key of the administrator, which is kept nowhere: $(part "$admin" key)"
