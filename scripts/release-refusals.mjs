// Why a version cannot be published, as far as the files of the repository tell it.

/** Lock files name packages and hashes; where to download from is the choice of who installs. */
export const downloadAddresses = (lock) =>
  [...lock.matchAll(/"resolved": "(\w+:\/\/[^"]+)"/g)].map(([, address]) => address)

/** `status` is what `git status --porcelain` prints; `locks` are texts of lock files by name. */
export function refusals({ version, status, changelog, locks }) {
  const headings = changelog.split('\n').filter((line) => line.startsWith('## '))
  const has = (name) => headings.some((line) => line === `## ${name}` || line.startsWith(`## ${name} `))
  const found = []
  if (status !== '') found.push(`the tree has changes that are not committed\n${status}`)
  if (!has(version)) found.push(`CHANGELOG.md has no entry "## ${version}"`)
  if (has('Unreleased')) found.push('CHANGELOG.md has changes under "Unreleased": give them a version')
  const locked = JSON.parse(locks['package-lock.json']).version
  if (locked !== version)
    found.push(`package-lock.json is of version ${locked}, package.json of version ${version}`)
  for (const [name, lock] of Object.entries(locks)) {
    const [address] = downloadAddresses(lock)
    if (address !== undefined) found.push(`${name} names a download address: ${address}`)
  }
  return found
}
