export const LANGUAGES = ['curl', 'library', 'javascript', 'go', 'java', 'python'] as const
export type Language = (typeof LANGUAGES)[number]

export interface CodeFacts {
  id: string
  url: string
  keysRequired: boolean
}

/** Without the lines about keys where the server has none. */
const lines = (...all: (string | false)[]): string => all.filter((line) => line !== false).join('\n')

/** `CUSTOMER` stands for the customer, `CATRACA_KEY` for a key with the scope `check`. */
export const CODE: Record<Exclude<Language, 'curl'>, (facts: CodeFacts) => string> = {
  library: ({ id }) =>
    lines(
      "import { openCatraca } from 'catraca'",
      '',
      "const catraca = await openCatraca({ store: 'embedded:./catraca-data' })",
      `const { overallAllowed } = await catraca.allowlists.check('CUSTOMER', ['${id}'])`,
    ),
  javascript: ({ id, url, keysRequired }) =>
    lines(
      "import { OFREPProvider } from '@openfeature/ofrep-provider'",
      "import { OpenFeature } from '@openfeature/server-sdk'",
      '',
      'const provider = new OFREPProvider({',
      `  baseUrl: '${url}',`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shown, not run.
      keysRequired && "  headers: [['Authorization', `Bearer ${process.env.CATRACA_KEY}`]],",
      '})',
      'await OpenFeature.setProviderAndWait(provider)',
      'const flags = OpenFeature.getClient()',
      `const on = await flags.getBooleanValue('${id}', false, { targetingKey: 'CUSTOMER' })`,
    ),
  go: ({ id, url, keysRequired }) =>
    lines(
      'import (',
      '\t"context"',
      keysRequired && '\t"os"',
      '',
      '\t"github.com/open-feature/go-sdk-contrib/providers/ofrep"',
      '\t"github.com/open-feature/go-sdk/openfeature"',
      ')',
      '',
      keysRequired
        ? `provider := ofrep.NewProvider("${url}", ofrep.WithBearerToken(os.Getenv("CATRACA_KEY")))`
        : `provider := ofrep.NewProvider("${url}")`,
      'openfeature.SetProviderAndWait(provider)',
      'flags := openfeature.NewClient("app")',
      'customer := openfeature.NewEvaluationContext("CUSTOMER", nil)',
      `on, err := flags.BooleanValue(context.Background(), "${id}", false, customer)`,
    ),
  java: ({ id, url, keysRequired }) =>
    lines(
      'var options = OfrepProviderOptions.builder()',
      `    .baseUrl("${url}")`,
      keysRequired &&
        '    .headers(ImmutableMap.of("Authorization", ImmutableList.of("Bearer " + System.getenv("CATRACA_KEY"))))',
      '    .build();',
      'OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));',
      'var flags = OpenFeatureAPI.getInstance().getClient();',
      `boolean on = flags.getBooleanValue("${id}", false, new ImmutableContext("CUSTOMER"));`,
    ),
  python: ({ id, url, keysRequired }) =>
    lines(
      keysRequired && 'import os',
      'from openfeature import api',
      'from openfeature.contrib.provider.ofrep import OFREPProvider',
      'from openfeature.evaluation_context import EvaluationContext',
      '',
      keysRequired && 'headers = lambda: {"Authorization": f"Bearer {os.environ[\'CATRACA_KEY\']}"}',
      `api.set_provider(OFREPProvider("${url}"${keysRequired ? ', headers_factory=headers' : ''}))`,
      'flags = api.get_client()',
      `on = flags.get_boolean_value("${id}", False, EvaluationContext("CUSTOMER"))`,
    ),
}
