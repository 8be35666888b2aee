/**
 * The parts of a run that follow its first request, as one module: once many modules are loaded, each further import
 * takes Deno 5 to 10 ms.
 *
 * @module
 */

export { finishRun } from "./finish_run.ts";
export { createReporter } from "./run_reporter.ts";
export { reportStart } from "./start_report.ts";
