/** The messages as the handlers see them: what `protos/` describes. */
export interface Entry {
  key?: string
  value?: string
}

export interface Descriptor {
  entries: Entry[]
  limit?: { requestsPerUnit?: number; unit?: number } | null
  hitsAddend?: { value?: number } | null
  isNegativeHits?: boolean
}

export interface RateLimitRequest {
  domain?: string
  descriptors: Descriptor[]
  hitsAddend?: number
}

export const RATE_LIMIT_CODE = { OK: 1, OVER_LIMIT: 2 } as const

export interface DescriptorStatus {
  code: number
  currentLimit?: { name: string; requestsPerUnit: number; unit: number }
  limitRemaining?: number
  durationUntilReset?: { seconds: number; nanos: number }
}

export interface HeaderValue {
  key: string
  value: string
}

export interface RateLimitResponse {
  overallCode: number
  statuses: DescriptorStatus[]
  responseHeadersToAdd?: HeaderValue[]
}

/** A value of `google.protobuf.Struct`. */
export interface StructValue {
  stringValue?: string
  numberValue?: number
  structValue?: Struct
}

export interface Struct {
  fields?: Record<string, StructValue>
}

export interface CheckRequest {
  attributes?: {
    request?: { http?: { headers?: Record<string, string>; path?: string; host?: string } | null } | null
    contextExtensions?: Record<string, string>
    metadataContext?: { filterMetadata?: Record<string, Struct> } | null
  } | null
}

interface HeaderOption {
  header: HeaderValue
}

export interface CheckResponse {
  status: { code: number; message?: string }
  deniedResponse?: { status: { code: number }; headers: HeaderOption[]; body: string }
  okResponse?: { headers: HeaderOption[]; headersToRemove: string[] }
}

/** Seconds of each unit, by its number in `RateLimitUnit`. Months and years have the length that Envoy's service gives them. */
export const UNIT_SECONDS: readonly (number | undefined)[] = [
  undefined,
  1,
  60,
  3_600,
  86_400,
  30 * 86_400,
  365 * 86_400,
]
