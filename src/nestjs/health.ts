import { Inject, Injectable, Logger } from '@nestjs/common'
import { type AnyCatraca, CATRACA } from './tokens.js'

/** As Terminus takes it. */
export type CatracaHealthResult<Key extends string = string> = Record<
  Key,
  { status: 'up' | 'down'; engines?: Record<string, 'healthy' | 'unhealthy'> }
>

/** A health indicator for Terminus: `health.check([() => catraca.isHealthy()])`. Why an engine is down is in the log. */
@Injectable()
export class CatracaHealth {
  private readonly logger = new Logger('Catraca')
  private said: string | undefined

  constructor(@Inject(CATRACA) private readonly catraca: AnyCatraca) {}

  /** Asks every engine, at most once a second. Over a server the key needs the scope `read`. */
  async isHealthy<Key extends string = 'catraca'>(
    key: Key = 'catraca' as Key,
  ): Promise<CatracaHealthResult<Key>> {
    try {
      const { status, engines } = await this.catraca.health()
      const reasons = engines.flatMap(({ name, error }: { name: string; error?: string }) =>
        error === undefined ? [] : [`${name}: ${error}`],
      )
      this.say(status === 'healthy' ? undefined : reasons.join('; '))
      const byName = Object.fromEntries(engines.map(({ name, status: of }) => [name, of]))
      return {
        [key]: { status: status === 'healthy' ? 'up' : 'down', engines: byName },
      } as CatracaHealthResult<Key>
    } catch (error) {
      this.say((error as Error).message)
      return { [key]: { status: 'down' } } as CatracaHealthResult<Key>
    }
  }

  /** Once, because probes come every few seconds. */
  private say(trouble: string | undefined): void {
    if (trouble !== undefined && trouble !== this.said) this.logger.warn(`unhealthy: ${trouble}`)
    this.said = trouble
  }
}
