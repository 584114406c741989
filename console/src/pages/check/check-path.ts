/** The check is in the URL, so that other pages can link to it: `/check?customer=ana&lists=vip,beta`. */
export function checkPath(customer: string, lists: readonly string[]): string {
  const given = { customer, ...(lists.length > 0 && { lists: lists.join(',') }) }
  return `/check?${new URLSearchParams(given)}`
}
