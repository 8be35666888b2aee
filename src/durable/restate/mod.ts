/**
 * Durable runs on Restate.
 *
 * {@linkcode RestateEngine} runs the workflows of `@swink/agent/durable` on a Restate server, with
 * `npm:@restatedev/restate-sdk`, which is loaded when the engine starts.
 *
 * @module
 */

export {
  RestateEngine,
  type RestateEngineOptions,
  type RestateRegistration,
} from "./restate_engine.ts";
