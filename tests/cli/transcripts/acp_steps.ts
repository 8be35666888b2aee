/**
 * The transcript of `swink acp` without an editor.
 *
 * @module
 */

import type { Transcript } from "./transcript.ts";

/** The transcript: help and errors; `acp_test.ts` has the conversations with editors. */
export const ACP_TRANSCRIPT: Transcript = {
  name: "acp",
  steps: [
    "swink acp --help",
    { line: "swink acp", terminals: ["input", "output", "messages"] },
    "swink acp --login",
    "swink acp --cwd p",
    "swink acp -m nonsense",
    "swink acp",
  ],
};
