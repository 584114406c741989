import { Button } from '@mantine/core'
import { useTexts } from '../../texts/language.js'
import { effectiveLimits, type Level, type Levels } from './model.js'
import { LevelTag, useLimitWords } from './words.js'

export interface InheritedLimitsProps {
  levels: Levels
  order: readonly Level[]
  /** Names of limits that this level configures already. */
  taken: readonly string[]
  onOverride(name: string): void
}

/** Limits that apply here and that this level does not configure. */
export function InheritedLimits({ levels, order, taken, onOverride }: InheritedLimitsProps) {
  const { limits: texts } = useTexts()
  const words = useLimitWords()
  const inherited = effectiveLimits(levels, order).filter(({ name }) => !taken.includes(name))
  if (inherited.length === 0) return null
  return (
    <ul className="inherited" aria-label={texts.inheritedLimits}>
      {inherited.map(({ name, limit, from }) => (
        <li key={name}>
          <span>
            <strong>{name}</strong> {words(limit)}{' '}
            {from.map((level) => (
              <LevelTag key={level} level={level} />
            ))}
          </span>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={texts.overrideLabel(name)}
            onClick={() => onOverride(name)}
          >
            {texts.override}
          </Button>
        </li>
      ))}
    </ul>
  )
}
