/** Loaded into a server with `--import`: tells whoever started it what memory it uses, after a collection. */
process.on('message', () => {
  // What is garbage says nothing of a leak.
  ;(globalThis as { gc?: () => void }).gc?.()
  process.send?.(process.memoryUsage())
})
// It must not keep a server from ending.
process.channel?.unref()
