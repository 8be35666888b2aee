/**
 * The main module of the process of a worker.
 *
 * @module
 */

import { runWorkerProcess } from "./run_worker_process.ts";

await runWorkerProcess();
