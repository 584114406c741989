export const allowlists = {
  title: 'Allowlists',
}
