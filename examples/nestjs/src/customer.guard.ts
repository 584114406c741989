import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common'

export interface CustomerRequest {
  headers: Record<string, string | undefined>
  customer: string
}

/** Stands for your authentication: a gateway in front has verified who the customer is. */
@Injectable()
export class CustomerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CustomerRequest & { url: string }>()
    if (request.url === '/health') return true
    const customer = request.headers['x-customer']
    if (customer === undefined) throw new UnauthorizedException()
    request.customer = customer
    return true
  }
}
