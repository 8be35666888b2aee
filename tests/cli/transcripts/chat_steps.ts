/**
 * The transcripts of conversations on a terminal that only writes lines.
 *
 * @module
 */

import { scriptedCall, scriptedReply } from "../fake_host.ts";
import type { Transcript } from "./transcript.ts";

const TERMINAL = ["input", "output", "messages"] as const;
const DONE = scriptedReply("Done.");

/** The transcripts: conversations, and the errors of their commands. */
export const CHAT_TRANSCRIPTS: readonly Transcript[] = [
  {
    name: "chat",
    files: {
      "p/a.txt": "A\n",
      "mcp.json": '{"mcpServers":{"x":{"command":"missing-program"}}}',
    },
    steps: [
      "swink chat --help",
      { line: "swink", terminals: ["output", "messages"] },
      { line: "swink -o json", terminals: TERMINAL },
      "swink chat -o yaml",
      "swink -m openai/x run hello",
      {
        line: "swink",
        model: [scriptedReply(scriptedCall("read_file", { path: "a.txt" })), DONE],
        typed: [
          "#help",
          "/hlep",
          "/help nothing",
          "/expand",
          "/diff",
          "/rewind",
          "/fork",
          "/copy",
          "Read a.txt",
          "/expand",
          "/expand 9",
          "/expand all",
          "/diff sideways",
          "/queue drop 1",
          "/queue remove 1",
          "/agents 1",
          "/approve maybe",
          "/approve untrust bash",
          "/theme neon",
          "/thinking huge",
          "/tools all",
          "/mcp stop x",
          "/plan maybe",
          "/rewind 9",
          "/tree 9",
          "/copy",
          "/copy last",
          "/key",
          "/model gpt",
          "/edit-plan",
          "/export page.pdf",
          "/tree",
          "/usage",
          "/quit",
        ],
      },
      {
        line: "swink -c",
        typed: ["/resume", "1", "/rewind", "/rewind", "/quit"],
      },
      {
        line: "swink --no-session --mcp-config HOME/mcp.json",
        typed: [
          "/mcp",
          "/mcp stop x",
          "/mcp restart y",
          "/save",
          "/rewind",
          "/export a.md",
          "/quit",
        ],
      },
    ],
  },
];
