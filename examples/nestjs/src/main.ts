import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.js'

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule)
  // Nest then closes on SIGTERM: the last requests are answered, and the guards are closed behind them.
  app.enableShutdownHooks()
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
}

void start()
