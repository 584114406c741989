/** Dialogs give the focus back, and buttons that load are usable again, within this time. */
const SETTLED_MS = 150
/** What can stand in for a part of it that is gone. */
const PLACES = '[role="dialog"], [tabindex], form, section, main'

/**
 * Browsers drop the focus when its element is removed or disabled, and keys then begin at the top of the page. This moves it
 * to the nearest part of the page that is left.
 */
export function keepFocus(): void {
  let last: { element: Element; around: Element[] } | undefined
  let isWaiting = false
  const isGone = (): boolean =>
    last !== undefined && (!last.element.isConnected || last.element.matches(':disabled'))
  const restore = (): void => {
    isWaiting = false
    const { activeElement } = document
    if (last === undefined || (activeElement !== null && activeElement !== document.body)) return
    focus(isGone() ? last.around.find((place) => place.isConnected) : last.element)
  }
  const changed = (): void => {
    // Who clicked beside everything has taken the focus away, and nothing is gone.
    if (isWaiting || !isGone()) return
    isWaiting = true
    setTimeout(restore, SETTLED_MS)
  }
  document.addEventListener('focusin', ({ target }) => {
    const element = target as Element
    const around: Element[] = []
    for (let at = element.parentElement; at !== null; at = at.parentElement)
      if (at.matches(PLACES)) around.push(at)
    last = { element, around }
  })
  new MutationObserver(changed).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled'],
  })
}

function focus(place: Element | null | undefined): void {
  const next = place ?? document.querySelector('h1')
  if (!(next instanceof HTMLElement)) return
  // Also for what no key reaches.
  if (next.tabIndex < 0) next.tabIndex = -1
  next.focus({ preventScroll: true })
}
