/** Makes the browser save a Blob as a file. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The download has started by then; revoking at once is too early for some browsers.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
