export const guards = {
  title: 'Guards',
}
