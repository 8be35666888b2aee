/**
 * Bedrock's system tools, which Nova models have.
 *
 * @module
 */

import type { ServerToolFormats } from "../kit/request/server_tools.ts";

/** The system tools of Nova models. */
export const NOVA_TOOLS: ServerToolFormats = {
  web_search: { supports: [], create: () => ({ systemTool: { name: "nova_grounding" } }) },
  code_execution: {
    supports: [],
    create: () => ({ systemTool: { name: "nova_code_interpreter" } }),
  },
};
