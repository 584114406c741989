import { Controller, Get } from '@nestjs/common'
import { HealthCheck, HealthCheckService } from '@nestjs/terminus'
import { CatracaHealth } from 'catraca/nestjs'

@Controller('health')
export class HealthController {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly catraca: CatracaHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.checks.check([() => this.catraca.isHealthy()])
  }
}
