/**
 * Runs in the protocol AG-UI, for web front ends.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { agUiHandler } from "@swink/agent/ag-ui";
 *
 * const createAgent = () => new Agent({ model: "anthropic/claude-sonnet-5-5" });
 * const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
 * const server = Deno.serve(options, agUiHandler({ createAgent }));
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

export type { ClientEndpointOptions } from "../web_client/client_endpoint.ts";
export type {
  AgUiEvent,
  AgUiEventBody,
  AgUiInterrupt,
  AgUiMessage,
  AgUiOutcome,
  AgUiPart,
  AgUiPatch,
  AgUiSubAgentEvent,
  AgUiToolCall,
  AgUiUsage,
} from "./ag_ui_event.ts";
export { agUiHandler, type AgUiHandlerOptions } from "./ag_ui_handler.ts";
export type { EventMapperOptions } from "./event_mapper.ts";
export type { AgUiRunInput, AgUiTool } from "./run_input.ts";
export { type AgUiOptions, toAgUi } from "./to_ag_ui.ts";
