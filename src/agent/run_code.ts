/**
 * The code of an agent that only runs need, as one module to load with the first run.
 *
 * @module
 */

// With the code of the loop, so that bundlers put what both share into one chunk.
import "../loop/run_turns.ts";

export { drainPreviousRun } from "./latest_run.ts";
export { EventBody } from "./event_body.ts";
export { runAgentTool } from "./run_agent_tool.ts";
export { StateObserver } from "./state_observer.ts";
export { StructuredAnswer } from "./structured_output.ts";
export { toAgentResult } from "./to_agent_result.ts";
