/** A fetch-style handler. Frameworks pass more than the request: it reaches the handler. */
export type Handler<Rest extends unknown[] = []> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>
