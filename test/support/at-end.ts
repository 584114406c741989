import { after } from 'node:test'

const ends: (() => unknown)[] = []

// Hooks run in the order in which they were registered, those of a file behind those of its suites. This one belongs to
// the file, whoever calls `atEnd`: so a server is there until everybody who uses it was closed.
after(async () => {
  for (const end of ends.reverse()) await end()
})

/** Done when all tests of this file, and the hooks of their suites, are over; what was begun last ends first. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
}
