import {
  ConfigurableModuleBuilder,
  Inject,
  Injectable,
  Logger,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { openCatraca } from '../app/open-catraca.js'
import type { OpenOptions } from '../app/open-options.js'
import { invalid } from '../core/errors.js'
import { type ConnectOptions, connectCatraca } from '../remote/index.js'
import { CatracaExceptionFilter } from './exception.js'
import { CatracaHealth } from './health.js'
import { type AnyCatraca, CATRACA, SHARED, type Shared } from './tokens.js'
import { Works } from './works.js'

interface ModuleOptions {
  /** The customer of a request, for `@Allow` without one. */
  customer?: Shared['customer']
  /** How long a shutdown waits for methods with `@Locked` or `@Cached` that still run; 10 s when absent. */
  shutdownMs?: number
}

/**
 * Where the guards are. The module opens and closes an instance by the options of `openCatraca`, or takes a `server`, or an
 * instance or connection (`catraca`) that the application opens and closes itself.
 */
export type CatracaModuleOptions = ModuleOptions &
  (
    | (OpenOptions & { server?: undefined; catraca?: undefined })
    | { server: ConnectOptions; catraca?: undefined }
    | { catraca: AnyCatraca; server?: undefined }
  )

const DEFAULT_SHUTDOWN_MS = 10_000

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CatracaModuleOptions>(
  {
    moduleName: 'Catraca',
  },
)
  .setClassMethodName('forRoot')
  .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
  .build()

/** What the module opened, and closes. */
interface Opened extends Shared {
  close: () => Promise<void>
}
const OPENED = Symbol.for('catraca.nestjs.opened')

async function open({
  customer,
  shutdownMs = DEFAULT_SHUTDOWN_MS,
  ...where
}: CatracaModuleOptions): Promise<Opened> {
  if (!Number.isSafeInteger(shutdownMs) || shutdownMs < 0) {
    throw invalid('shutdownMs', 'must be a whole number of milliseconds')
  }
  const catraca = await openWhere(where)
  const works = new Works()
  const close = async () => {
    await works.settle(shutdownMs)
    if (where.catraca === undefined) await catraca.close()
  }
  return { catraca, customer, works, close }
}

async function openWhere(where: CatracaModuleOptions): Promise<AnyCatraca> {
  const { catraca, server, ...options } = where
  const given =
    [catraca, server].filter((one) => one !== undefined).length + Math.min(1, Object.keys(options).length)
  if (given > 1) throw invalid('options', 'must be those of an instance, or a server, or catraca')
  if (catraca !== undefined) return catraca
  const logger = new Logger('Catraca')
  const onReport = (message: string, error: unknown) =>
    logger.warn(error instanceof Error ? `${message}: ${error.message}` : message)
  return server === undefined
    ? openCatraca({ onReport, ...options })
    : connectCatraca({ onReport, ...server })
}

/** A test may have put another instance in the place of the one that was opened. */
const sharedBy = ({ customer, works }: Opened, catraca: AnyCatraca): Shared => ({ catraca, customer, works })

/**
 * Closes the guards last: `onApplicationShutdown` comes after the HTTP server has answered its last request, so that nothing
 * is left to expire by itself.
 */
@Injectable()
class Closing implements OnApplicationShutdown {
  constructor(@Inject(OPENED) private readonly opened: Opened) {}

  onApplicationShutdown(): Promise<void> {
    return this.opened.close()
  }
}

/** Guards for a Nest application. Global unless `isGlobal` is false. */
@Module({
  providers: [
    { provide: OPENED, useFactory: open, inject: [MODULE_OPTIONS_TOKEN] },
    { provide: CATRACA, useFactory: ({ catraca }: Opened) => catraca, inject: [OPENED] },
    { provide: SHARED, useFactory: sharedBy, inject: [OPENED, CATRACA] },
    { provide: APP_FILTER, useClass: CatracaExceptionFilter },
    Closing,
    CatracaHealth,
  ],
  exports: [CATRACA, SHARED, CatracaHealth],
})
export class CatracaModule extends ConfigurableModuleClass {}
