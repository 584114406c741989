import 'reflect-metadata'
import type { TestContext } from 'node:test'
import { type INestApplication, Module, type Type } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { CatracaModule, type CatracaModuleOptions } from '../../src/nestjs/index.js'

export const PLATFORMS: Record<'Express' | 'Fastify', () => AbstractHttpAdapter> = {
  Express: () => new ExpressAdapter(),
  Fastify: () => new FastifyAdapter(),
}

export type Platform = keyof typeof PLATFORMS
export const NAMES = Object.keys(PLATFORMS) as Platform[]

export type Ask = (path?: string, init?: RequestInit) => Promise<Response>

export interface Running {
  app: INestApplication
  ask: Ask
}

/** Starts an application with the module, and stops it after the test. */
export async function startNest(
  t: TestContext,
  platform: Platform,
  options: CatracaModuleOptions,
  parts: {
    controllers: Type[]
    providers?: Type[]
    imports?: Type[]
    prepare?: (app: INestApplication) => void
  },
): Promise<Running> {
  const { prepare, imports = [], ...rest } = parts
  @Module({ imports: [CatracaModule.forRoot(options), ...imports], ...rest })
  class App {}
  const app: INestApplication = await NestFactory.create(App, PLATFORMS[platform](), {
    logger: false,
    abortOnError: false,
  })
  prepare?.(app)
  t.after(() => app.close())
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  return { app, ask: (path = '/', init) => fetch(url + path, init) }
}

export const post = (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): [string, RequestInit] => [
  path,
  { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } },
]

export async function problemOf(response: Response): Promise<Record<string, unknown>> {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/problem+json')) throw new Error(`${type}: ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}
