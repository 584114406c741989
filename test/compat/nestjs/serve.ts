// The example on either platform. Says where it listens.
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { AppModule } from './app.module.js'

async function start(): Promise<void> {
  const adapter = process.argv[2] === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter()
  const app = await NestFactory.create(AppModule, adapter, { logger: ['error', 'warn'] })
  app.enableShutdownHooks()
  await app.listen(0, '127.0.0.1')
  console.log(`listening ${await app.getUrl()}`)
}

void start()
