{{- define "catraca.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "catraca.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "catraca.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "catraca.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "catraca.matchLabels" -}}
app.kubernetes.io/name: {{ include "catraca.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "catraca.labels" -}}
{{ include "catraca.matchLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- if eq .Release.Service "Helm" }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
{{- end -}}

{{- define "catraca.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "catraca.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "catraca.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{- define "catraca.embedded" -}}
{{- if hasPrefix "embedded:" .Values.store.url -}}yes{{- end -}}
{{- end -}}

{{- /* preStop, then shutdownTimeoutMs (drainMs is within it), then two seconds in which workers are ended, and some air. */ -}}
{{- define "catraca.graceSeconds" -}}
{{- add .Values.shutdown.preStopSeconds (div (add .Values.shutdown.timeoutMs 999) 1000) 5 -}}
{{- end -}}

{{- define "catraca.storeEnv" -}}
- name: CATRACA_STORE
{{- if .Values.store.urlSecret.name }}
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.urlSecret.name }}
      key: {{ .Values.store.urlSecret.key }}
{{- else }}
  value: {{ .Values.store.url | quote }}
{{- end }}
{{- range $capability, $url := .Values.store.perCapability }}
- name: {{ printf "CATRACA_STORE_%s" (upper $capability) }}
  value: {{ $url | quote }}
{{- end }}
- name: CATRACA_CONFIG
  value: /etc/catraca/catraca.config.json
{{- if .Values.dynamodb.topicArn }}
- name: CATRACA_DYNAMODB_TOPIC_ARN
  value: {{ .Values.dynamodb.topicArn | quote }}
{{- end }}
{{- end -}}

{{- define "catraca.serverEnv" -}}
{{ include "catraca.storeEnv" . }}
- name: CATRACA_HOST
  value: 0.0.0.0
- name: CATRACA_PORT
  value: "8080"
- name: CATRACA_SHUTDOWN_TIMEOUT_MS
  value: {{ .Values.shutdown.timeoutMs | int64 | quote }}
{{- if not .Values.keys.inStore }}
- name: CATRACA_KEYS_FILE
  value: /run/secrets/catraca/keys
{{- end }}
{{- if .Values.redis.passwordSecret.name }}
- name: CATRACA_REDIS_PASSWORD_FILE
  value: /run/secrets/catraca/redis-password
{{- end }}
{{- if .Values.codes.pepperSecret.name }}
- name: CATRACA_OTP_PEPPER_FILE
  value: /run/secrets/catraca/pepper
{{- end }}
{{- if .Values.codes.previousPepperSecret.name }}
- name: CATRACA_OTP_PEPPER_PREVIOUS_FILE
  value: /run/secrets/catraca/previous-pepper
{{- end }}
{{- if .Values.dynamodb.daxEndpoint }}
- name: CATRACA_DYNAMODB_DAX_ENDPOINT
  value: {{ .Values.dynamodb.daxEndpoint | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "catraca.secretSource" -}}
- secret:
    name: {{ .secret.name }}
    items:
      - key: {{ .secret.key }}
        path: {{ .path }}
{{- end -}}

{{- define "catraca.secretSources" -}}
{{- if not .Values.keys.inStore -}}
{{- include "catraca.secretSource" (dict "secret" .Values.keys.secret "path" "keys") | nindent 0 -}}
{{- end -}}
{{- if .Values.redis.passwordSecret.name -}}
{{- include "catraca.secretSource" (dict "secret" .Values.redis.passwordSecret "path" "redis-password") | nindent 0 -}}
{{- end -}}
{{- if .Values.codes.pepperSecret.name -}}
{{- include "catraca.secretSource" (dict "secret" .Values.codes.pepperSecret "path" "pepper") | nindent 0 -}}
{{- end -}}
{{- if .Values.codes.previousPepperSecret.name -}}
{{- include "catraca.secretSource" (dict "secret" .Values.codes.previousPepperSecret "path" "previous-pepper") | nindent 0 -}}
{{- end -}}
{{- end -}}

{{- define "catraca.volumes" -}}
- name: config
  configMap:
    name: {{ include "catraca.fullname" . }}
- name: spool
  emptyDir:
    sizeLimit: {{ .Values.spool.sizeLimit }}
{{- end -}}
