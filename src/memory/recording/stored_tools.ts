/**
 * The specs of an agent's tools as a session stores them.
 *
 * @module
 */

import type { ToolSpec } from "../../core/streams/stream.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { getToolSpecs } from "../../loop/model_call/request.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** Keeps the specs of the last tools, which rarely change. */
export class StoredTools {
  #tools: readonly AgentTool[] = [];
  #specs: readonly ToolSpec[] = [];

  /** Returns the specs of tools as JSON, which those of a schema library may not be. */
  get(tools: readonly AgentTool[]): readonly ToolSpec[] {
    if (this.#tools !== tools) {
      this.#tools = tools;
      this.#specs = JSON.parse(safeStringify(getToolSpecs(tools)));
    }
    return this.#specs;
  }
}
