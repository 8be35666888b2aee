/**
 * The code of an agent that only runs need, as one module to load with the first run.
 *
 * @module
 */

export { applyEvent } from "./apply_event.ts";
export { checkOptionNames } from "./check_option_names.ts";
export { pullEvent } from "./pull_event.ts";
export { StructuredAnswer } from "./structured_output.ts";
export { toAgentResult } from "./to_agent_result.ts";
export { toAgentToolResult } from "./to_agent_tool_result.ts";
