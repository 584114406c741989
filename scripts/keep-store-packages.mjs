// For the Docker image: makes the packages that some stores, sign-in or the gRPC port need (optional in an application, for development in a
// clone) dependencies, so that `npm prune --omit=dev` leaves them. Changes package.json: only for a copy of the clone.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package.json', import.meta.url)
const manifest = JSON.parse(readFileSync(file, 'utf8'))
const { dependencies, devDependencies, peerDependencies } = manifest
for (const name of Object.keys(peerDependencies).filter((peer) =>
  /^(@(aws-sdk|amazon-dax-sdk|grpc)\/|openid-client$)/.test(peer),
)) {
  dependencies[name] = devDependencies[name]
  delete devDependencies[name]
  delete peerDependencies[name]
}
writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
