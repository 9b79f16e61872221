// An executor made with the npm package xxl-job-nodejs, as its README shows.
// Arguments: center URL, access token, app name. It prints "listening PORT" and
// writes its log below the working directory. SIGTERM deregisters it.
const express = require("express");
const { createXxlJobExecutor } = require("xxl-job-nodejs");

const [center, accessToken, executorKey] = process.argv.slice(2);

const jobHandlers = new Map();
jobHandlers.set("greet", async (logger, request, params) => {
  logger.info(`greeting ${params} for run ${request.logId}`);
  return { greeted: params };
});
jobHandlers.set("fail", async (logger) => {
  logger.warn("about to fail");
  throw new Error("out of paper");
});
jobHandlers.set("nap", async (logger) => {
  logger.info("napping");
  await new Promise((done) => setTimeout(done, 60_000));
});

const app = express();
app.use(express.json());
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  const executor = createXxlJobExecutor({
    app,
    jobHandlers,
    accessToken,
    executorKey,
    appType: "express",
    logStorage: "local",
    baseUrl: `http://127.0.0.1:${port}`,
    scheduleCenterUrl: center,
  });
  process.on("SIGTERM", async () => {
    await executor.cancel();
    process.exit(0);
  });
  executor.initialization();
  console.log(`listening ${port}`);
});
