// The sections of the side bar, in the order of a reader who begins. Each entry is a page of the site and its name in the
// side bar, in English and in Portuguese. `test/site/sections.test.ts` fails when a page of docs/ is missing here.
export const SECTIONS = [
  {
    text: ['Start', 'Comece aqui'],
    pages: [
      ['index', 'Ten lines', 'Dez linhas'],
      ['guides/installing', 'Stores, bundlers, platforms', 'Stores, bundlers, plataformas'],
      ['guides/getting-started', 'Getting started', 'Primeiros passos'],
      ['guides/frameworks', 'Express, Fastify, Hono, fetch', 'Express, Fastify, Hono, fetch'],
      ['guides/nestjs', 'NestJS', 'NestJS'],
      ['guides/other-stores', 'Behind your limiter or cache', 'Atrás do seu limitador ou cache'],
      ['guides/recipes', 'Recipes', 'Receitas'],
      ['guides/testing', 'Test your service', 'Teste o seu serviço'],
      ['guides/clients', 'Clients', 'Clientes'],
      ['guides/http', 'HTTP', 'HTTP'],
      ['guides/sidecar', 'Envoy and gRPC', 'Envoy e gRPC'],
      ['console', 'Web console', 'Console web'],
    ],
  },
  {
    text: ['Guards', 'Guardas'],
    pages: [
      ['guides/allowlists', 'Allowlists', 'Allowlists'],
      ['guides/rate-limits', 'Rate limits', 'Limites de taxa'],
      ['guides/idempotency', 'Idempotency', 'Idempotência'],
      ['cache', 'Cache', 'Cache'],
      ['guides/locks', 'Locks', 'Locks'],
      ['guides/one-time-codes', 'One-time codes', 'Códigos de uso único'],
      ['guides/token-denylist', 'Token denylist', 'Tokens revogados'],
      ['guides/flags', 'Feature flags', 'Feature flags'],
      ['guides/dict', 'PIX keys (DICT)', 'Chaves PIX (DICT)'],
    ],
  },
  {
    text: ['Move to Catraca', 'Migre para a Catraca'],
    pages: [
      ['compare/index', 'Which page is yours', 'Qual página é a sua'],
      ['compare/rate-limiter-flexible', 'rate-limiter-flexible', 'rate-limiter-flexible'],
      ['compare/express-rate-limit', 'express-rate-limit', 'express-rate-limit'],
      ['compare/node-redlock', 'node-redlock', 'node-redlock'],
      ['compare/bentocache', 'bentocache', 'bentocache'],
      ['compare/powertools', 'Powertools idempotency', 'Powertools (idempotência)'],
      ['compare/unleash', 'Unleash segments', 'Segmentos do Unleash'],
    ],
  },
  {
    text: ['Stores', 'Armazenamentos'],
    pages: [
      ['engines', 'Engines', 'Motores'],
      ['guides/operating-embedded', 'The embedded store', 'O armazenamento embutido'],
      ['guides/operating-redis', 'Redis', 'Redis'],
      ['guides/operating-dynamodb', 'DynamoDB', 'DynamoDB'],
      ['guides/own-engine', 'An engine of your own', 'Um motor seu'],
      ['membership', 'The membership index', 'O índice de membros'],
      ['cost', 'Cost on DynamoDB', 'Custo no DynamoDB'],
      ['performance', 'Performance', 'Desempenho'],
    ],
  },
  {
    text: ['Operate', 'Operação'],
    pages: [
      ['guides/operating', 'Health and probes', 'Saúde e sondas'],
      ['guides/configuration-as-code', 'Configuration as code', 'Configuração como código'],
      ['guides/outages', 'When the store is away', 'Armazenamento fora do ar'],
      ['guides/metrics', 'Metrics', 'Métricas'],
      ['guides/logging', 'Logs', 'Logs'],
      ['guides/tracing', 'Tracing', 'Rastreamento'],
      ['guides/sign-in', 'Sign-in of people', 'Entrada de pessoas'],
      ['guides/audit', 'Audit trail', 'Trilha de auditoria'],
      ['guides/doctor', 'Doctor', 'Diagnóstico (doctor)'],
      ['guides/backup-and-recovery', 'Backup and recovery', 'Backup e recuperação'],
      ['guides/load-testing', 'Load testing', 'Testes de carga'],
      ['security', 'Security', 'Segurança'],
      ['upgrading', 'Upgrading', 'Atualização'],
      ['runbooks/index', 'Runbooks', 'Roteiros de operação'],
      ['project/deploy/index', 'Deployment files', 'Arquivos de implantação'],
    ],
  },
  {
    text: ['Reference', 'Referência'],
    pages: [
      ['api/index', 'Library', 'Biblioteca'],
      ['reference/config', 'Configuration', 'Configuração'],
      ['reference/cli', 'Command line', 'Linha de comando'],
      ['reference/routes', 'Routes and scopes', 'Rotas e escopos'],
      ['reference/errors', 'Errors', 'Erros'],
      ['reference/metrics', 'Metrics', 'Métricas'],
      ['reference/wave-hash', 'The hash of waves', 'O hash das ondas'],
    ],
  },
  {
    text: ['How it is made', 'Como é feita'],
    pages: [
      ['project/ARCHITECTURE', 'Architecture', 'Arquitetura'],
      ['adr/index', 'Decisions', 'Decisões'],
      ['design-decisions', 'Choices that look odd', 'Escolhas que parecem estranhas'],
      ['proofs', 'Proofs', 'Provas'],
      ['departures', 'Departures from the sources', 'Diferenças das fontes'],
      ['project/CONTRIBUTING', 'Contributing', 'Como contribuir'],
      ['project/CHANGELOG', 'Changes', 'Mudanças'],
    ],
  },
]

/** The folders that the side bar names by one page, because they have many. */
export const FOLDERS = ['adr/', 'api/', 'project/', 'runbooks/', 'source/']

/** The sections in one language, as VitePress takes them. `prefix` is the folder of the language. */
export function sidebar(language, prefix) {
  return SECTIONS.map(({ text, pages }, place) => ({
    text: text[language],
    collapsed: place > 3,
    items: pages.map(([page, ...names]) => ({
      text: names[language],
      link: `${prefix}/${page.replace(/(^|\/)index$/, '$1')}`,
    })),
  }))
}
