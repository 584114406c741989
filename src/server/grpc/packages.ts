import { fileURLToPath } from 'node:url'
import type * as GrpcJs from '@grpc/grpc-js'
import type * as ProtoLoader from '@grpc/proto-loader'
import type { PackageDefinition } from '@grpc/proto-loader'
import { requirePackage } from '../../core/packages.js'

export type { GrpcJs }

const USE = 'the gRPC port'
const FILES = [
  'envoy/service/ratelimit/v3/rls.proto',
  'envoy/service/auth/v3/external_auth.proto',
  'grpc/health/v1/health.proto',
]

/** How messages look to the handlers: camelCase, enums and 64-bit numbers as numbers, absent lists as empty ones. */
const FORM = { keepCase: false, enums: Number, longs: Number, arrays: true, objects: true } as const

export interface GrpcPackages {
  grpc: typeof GrpcJs
  services: PackageDefinition
}

/** Loads the library and our descriptions of the services. Only servers with a gRPC port need them. */
export function loadGrpc(): GrpcPackages {
  const grpc = requirePackage<typeof GrpcJs>('@grpc/grpc-js', USE)
  const loader = requirePackage<typeof ProtoLoader>('@grpc/proto-loader', USE)
  const folder = fileURLToPath(new URL('./protos/', import.meta.url))
  return { grpc, services: loader.loadSync(FILES, { ...FORM, includeDirs: [folder] }) }
}
