import { Center, Loader } from '@mantine/core'
import { type ReactNode, Suspense } from 'react'
import { Redirect, Router, Switch, useLocation, Route as Way } from 'wouter'
import { NotFound } from './pages/not-found.js'
import { SignIn } from './pages/sign-in/sign-in.js'
import { Announcer } from './parts/announcer.js'
import { Crash } from './parts/crash.js'
import { Layout } from './parts/layout.js'
import { ROUTES, visibleRoutes } from './routes.js'
import { useIdleSignOut } from './session/idle.js'
import { type SessionInfo, useSession } from './session/store.js'
import { useTexts } from './texts/language.js'

const BASE = '/console'

export function App() {
  const session = useSession()
  useIdleSignOut(session.status === 'signed-in' && session.info.keysRequired)
  return (
    <>
      {session.status === 'starting' && <Waiting />}
      {session.status === 'signed-out' && <SignIn because={session.because} />}
      {session.status === 'signed-in' && <Pages info={session.info} />}
      <Announcer />
    </>
  )
}

function Pages({ info }: { info: SessionInfo }) {
  const routes = visibleRoutes(info)
  const closed = ROUTES.filter((route) => !routes.includes(route))
  const start = routes.find(({ menu }) => menu !== undefined)?.path ?? '/settings'
  return (
    <Router base={BASE}>
      <Layout info={info} routes={routes}>
        <Guarded>
          <Suspense fallback={<Waiting />}>
            <Switch>
              {routes.map(({ path, page }) => (
                <Way key={path} path={path} component={page} />
              ))}
              <Way path="/">
                <Redirect to={start} replace />
              </Way>
              {closed.map(({ path, scopes }) => (
                <Way key={path} path={path}>
                  <NotFound start={start} scopes={scopes} />
                </Way>
              ))}
              <Way>
                <NotFound start={start} />
              </Way>
            </Switch>
          </Suspense>
        </Guarded>
      </Layout>
    </Router>
  )
}

/** Must be inside of the router, because it watches the location. */
function Guarded({ children }: { children: ReactNode }) {
  const [place] = useLocation()
  return <Crash place={place}>{children}</Crash>
}

function Waiting() {
  const { common } = useTexts()
  return (
    <Center mih={240}>
      <Loader type="dots" role="status" aria-label={common.loading} />
    </Center>
  )
}
