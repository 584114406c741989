// The page: OpenFeature's SDK for browsers, with its OFREP provider. The provider is told of changes by the event stream,
// and asks for the flags again.
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider'
import { OpenFeature, ProviderEvents } from '@openfeature/web-sdk'

const provider = new OFREPWebProvider({ baseUrl: location.origin, cacheMode: 'disabled' })
// The backend puts the customer of the session in the place of this key, so that a page cannot ask for another customer.
await OpenFeature.setProviderAndWait(provider, { targetingKey: 'me' })
const flags = OpenFeature.getClient()

function show() {
  const { value, reason } = flags.getBooleanDetails('new-checkout', false)
  const line = document.querySelector('#checkout')
  line.textContent = value ? 'new checkout' : 'old checkout'
  line.dataset.reason = reason
}

show()
OpenFeature.addHandler(ProviderEvents.ConfigurationChanged, show)
OpenFeature.addHandler(ProviderEvents.ContextChanged, show)

// Somebody else signs in: the flags are evaluated again.
document.querySelector('#sign-in').addEventListener('submit', async (event) => {
  event.preventDefault()
  const customer = new FormData(event.target).get('customer')
  await fetch('/session', { method: 'POST', body: customer })
  await OpenFeature.setContext({ targetingKey: 'me', signedIn: customer })
})
