// The configuration of VitePress. Nothing on the site is fetched from another host: no fonts, no scripts, no search.
import { readFileSync } from 'node:fs'
import { anchorOf } from './markdown.mjs'
import { sidebar } from './sections.mjs'
import { PORTUGUESE } from './texts.mjs'

const { version, repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const home = (repository?.url ?? '').replace(/^git\+/, '').replace(/\.git$/, '')

/** Runs in the browser too, from its text: it uses nothing from outside of itself. */
const searchOptions = {
  options: {
    // Names such as LOCK_HELD are words beside their parts, so that their pages come before those about one of the parts.
    tokenize: (text) => [
      ...text.split(/[\n\r\p{Z}\p{P}]+/u),
      ...(text.match(/[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+/g) ?? []),
    ],
    processTerm: (term) =>
      term
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .toLowerCase(),
  },
}

/** Raw HTML is text, but for the places that TypeDoc marks in tables. Double braces are text, not an expression of Vue. */
function keepText(md) {
  for (const name of ['text', 'code_inline']) {
    const rule = md.renderer.rules[name]
    md.renderer.rules[name] = (...args) =>
      rule(...args)
        .replaceAll('{{', '&#123;&#123;')
        .replace(/^&lt;a id=&quot;([\w-]+)&quot;&gt;&lt;\/a&gt;/, '<a id="$1"></a>')
  }
}

export function siteConfig({ base, outDir, cacheDir }) {
  return {
    base,
    outDir,
    cacheDir,
    title: 'Catraca',
    description: 'Request-time guards for backend services',
    lang: 'en',
    head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
    markdown: {
      html: false,
      linkify: false,
      anchor: { slugify: anchorOf },
      config: keepText,
      theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    },
    locales: {
      root: { label: 'English', lang: 'en', themeConfig: { sidebar: sidebar(0, '') } },
      'pt-BR': {
        label: 'Português (Brasil)',
        lang: 'pt-BR',
        description: 'Guardas de requisições para serviços de backend',
        themeConfig: { ...PORTUGUESE.theme, sidebar: sidebar(1, '/pt-BR') },
      },
    },
    themeConfig: {
      logo: '/icon.svg',
      nav: [{ text: version, link: '/project/CHANGELOG' }],
      outline: [2, 3],
      socialLinks: home === '' ? [] : [{ icon: 'github', link: home }],
      search: {
        provider: 'local',
        options: { miniSearch: searchOptions, locales: { 'pt-BR': PORTUGUESE.search } },
      },
    },
  }
}
