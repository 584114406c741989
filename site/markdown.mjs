// What the site needs to know of Markdown: headings, links, and what is code.

// A fenced block, a piece of code in a line, or the target of a link. Links in code are not links.
const PARTS = /^( *)(`{3,})[\s\S]*?^\1\2$|`[^`\n]*`|\]\(([^)\s]+)\)/gm

/** The anchor of a heading, as GitHub spells it. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** The page with every link target replaced by what `change` makes of it. Code stays as it is. */
export const changeLinks = (page, change) =>
  page.replace(PARTS, (part, _indent, _fence, target) =>
    target === undefined ? part : `](${change(target)})`,
  )

/** The targets of all links of a page, in their order. */
export function linksOf(page) {
  const links = []
  changeLinks(page, (target) => {
    links.push(target)
    return target
  })
  return links
}

/** The fenced blocks of a page. */
export const codeBlocksOf = (page) =>
  [...page.matchAll(/^( *)(`{3,})[\s\S]*?^\1\2$/gm)].map(([block]) => block)

/** The headings of a page, without those in code: `{ level, anchor }`. */
export function headingsOf(page) {
  const seen = new Map()
  const prose = page.replace(/^( *)(`{3,})[\s\S]*?^\1\2$/gm, '')
  return [...prose.matchAll(/^(#+) (.*)$/gm)].map(([, marks, text]) => {
    const base = anchorOf(text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    const times = seen.get(base) ?? 0
    seen.set(base, times + 1)
    return { level: marks.length, anchor: times === 0 ? base : `${base}-${times}` }
  })
}

/** A link within the repository or the page, not to another host. */
export const isLocal = (target) => !/^[a-z][a-z0-9+.-]*:/i.test(target)
