import { CatracaApiError, type CatracaClient } from '../client/index.js'
import { libraryError } from './calls.js'

/** What a server tells of itself. */
export interface RemoteHealth {
  status: 'healthy' | 'unhealthy'
  engines: { name: string; status: 'healthy' | 'unhealthy' }[]
}

/** A server that cannot serve says so with 503, which is an answer here. */
export async function remoteHealth(client: CatracaClient, url?: string): Promise<RemoteHealth> {
  try {
    return (await client.health()) as unknown as RemoteHealth
  } catch (error) {
    const told = error instanceof CatracaApiError ? (error.body as RemoteHealth | undefined) : undefined
    if (told?.status === 'unhealthy') return told
    throw libraryError(url, error)
  }
}
