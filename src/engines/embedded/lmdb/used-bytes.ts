import type { Database, RootDatabase } from 'lmdb'

interface Tree {
  treeBranchPageCount: number
  treeLeafPageCount: number
  overflowPages: number
}

interface Stats extends Tree {
  pageSize: number
  root: Tree
  free: Tree
}

const META_PAGES = 2

const pagesOf = ({ treeBranchPageCount, treeLeafPageCount, overflowPages }: Tree): number =>
  treeBranchPageCount + treeLeafPageCount + overflowPages

/**
 * What the data takes, without pages that were freed: LMDB keeps those in the file and uses them again. LMDB counts
 * the pages of each database, so this reads no data; `databases` are all that the file has.
 */
export function usedBytes(root: RootDatabase, databases: readonly Pick<Database, 'getStats'>[]): number {
  const whole = root.getStats() as Stats
  const pages = databases.map((database) => pagesOf(database.getStats() as Stats))
  const sum = pages.reduce((total, count) => total + count, pagesOf(whole.root) + pagesOf(whole.free))
  return whole.pageSize * (META_PAGES + sum)
}
