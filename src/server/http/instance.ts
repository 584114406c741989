import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger>
