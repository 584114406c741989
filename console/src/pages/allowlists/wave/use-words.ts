import { useMemo } from 'react'
import { useLanguage } from '../../../texts/language.js'

export interface Words {
  /** A moment in the chosen zone, with the name of the zone. */
  moment(at: number): string
  /** The same without the zone, for tables whose heading names it. */
  short(at: number): string
  utc(at: number): string
  /** In the browser's own zone. */
  local(at: number): string
  share(share: number): string
  number(value: number): string
}

/** How the pages of a wave show times and shares. */
export function useWords(zone: string): Words {
  const { language, format } = useLanguage()
  return useMemo(() => {
    const style = { dateStyle: 'medium', timeStyle: 'short' } as const
    const parts = {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    } as const
    const moment = new Intl.DateTimeFormat(language, { ...parts, timeZone: zone })
    const short = new Intl.DateTimeFormat(language, { ...style, timeZone: zone })
    const utc = new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' })
    const local = new Intl.DateTimeFormat(language, style)
    return {
      moment: (at) => moment.format(at),
      short: (at) => short.format(at),
      utc: (at) => utc.format(at),
      local: (at) => local.format(at),
      share: (share) => format.percent(share, 4),
      number: (value) => format.number(value),
    }
  }, [language, format, zone])
}
