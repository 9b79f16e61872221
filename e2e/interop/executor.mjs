// An executor on a client library that we did not write (xxl-job-nodejs), with
// handlers that say hello, fail and take their time.
// Usage: node executor.mjs MODULES PORT CENTER TOKEN; SIGTERM deregisters.
import { createRequire } from 'node:module'

const [modules, port, center, accessToken] = process.argv.slice(2)
const load = createRequire(modules + '/')
const express = load('express')
const { createXxlJobExecutor } = load('xxl-job-nodejs')

const jobHandlers = new Map([
  ['hello', async (logger, request, params) => {
    logger.info(`hello ${params}, run ${request.logId}`)
    return { greeted: params }
  }],
  ['fail', async () => { throw new Error('this one fails') }],
  ['nap', () => new Promise((done) => setTimeout(done, 60_000).unref())],
])

const app = express()
app.use(express.json())
const executor = createXxlJobExecutor({
  app, jobHandlers, accessToken, appType: 'express', logStorage: 'local', executorKey: 'foreign-node',
  baseUrl: `http://127.0.0.1:${port}`, scheduleCenterUrl: center,
})
app.listen(Number(port), '127.0.0.1', () => executor.initialization())

process.on('SIGTERM', async () => {
  await executor.cancel()
  process.exit(0)
})
