export { type Certificates, makeCertificates } from './certificates.js'
export { freePort, RedisProcess, type ServerOptions, until } from './process.js'
export { bump, commandCounts, failsInTime } from './questions.js'
export { type RedisServers, startCluster, startSentinel, startSingle } from './topologies.js'
