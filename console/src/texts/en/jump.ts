/** The search for anything by name. */
export const jump = {
  title: 'Go to',
  open: 'Search',
  placeholder: 'Page, list, limit, customer, lock …',
  found: 'Matches',
  nothing: 'No match.',
  page: 'Page',
  limit: 'Limit',
  customer: 'Check this customer',
  lock: 'Look up this lock',
  audit: 'Search the audit',
}
