import type { FastifyReply } from 'fastify'
import { invalid } from '../../../core/errors.js'
import { SIGN_IN } from '../../../wire/sign-in.js'
import { setCookie } from '../../access/sign-in/cookies.js'
import type { SignIn, SignInFailure } from '../../access/sign-in/index.js'
import { pageToReturnTo } from '../../access/sign-in/pending.js'
import { describeFailure } from '../../access/sign-in/provider-failures.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

/** Browsers follow these by themselves, so no client has them. */
const BY_BROWSERS = { config: { scope: 'open' }, schema: { hide: true } } as const

export function signInRoutes(app: App, context: ServerContext): void {
  const { signIn } = context
  addRoutes(app, context, SIGN_IN, {
    getSignIn: () => {
      if (signIn === undefined) return { offered: false }
      const { label } = signIn.settings
      return { offered: true, ...(label !== undefined && { label }) }
    },
    signOut: async (request, reply) => {
      if (signIn === undefined) return {}
      const { cookie, location } = await signIn.signOut(request.raw)
      reply.header('set-cookie', cookie)
      return location === undefined ? {} : { location }
    },
  })
  if (signIn !== undefined) addPages(app, signIn)
}

function addPages(app: App, signIn: SignIn): void {
  const { baseUrl, isSecure } = signIn.settings
  app.get('/sign-in', BY_BROWSERS, async ({ query, raw }, reply) => {
    const { returnTo } = query as { returnTo?: string | string[] }
    const page = pageToReturnTo([returnTo].flat()[0], baseUrl)
    if (page === undefined) throw invalid('returnTo', 'must be a page of the console')
    try {
      const { location, cookie } = await signIn.begin(raw, page)
      return redirect(reply.header('set-cookie', cookie), location)
    } catch (error) {
      app.log.warn(describeFailure(error), 'the sign-in provider does not answer')
      return failed(reply, 'away')
    }
  })
  app.get('/sign-in/callback', BY_BROWSERS, async ({ raw }, reply) => {
    const { search } = new URL(raw.url ?? '', baseUrl)
    const finished = await signIn.finish(raw, search)
    const done = setCookie('pending', '', isSecure)
    if (typeof finished === 'string') return failed(reply.header('set-cookie', done), finished)
    return redirect(reply.header('set-cookie', [done, finished.cookie]), finished.returnTo)
  })
}

/** The page says what to do about it. */
const failed = (reply: FastifyReply, why: SignInFailure): FastifyReply =>
  redirect(reply, `/console/?signIn=${why}`)

/** Without a referrer: the address that is left holds a code. */
const redirect = (reply: FastifyReply, location: string): FastifyReply =>
  reply.code(302).headers({ location, 'referrer-policy': 'no-referrer' }).send()
