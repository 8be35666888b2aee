/**
 * A host with agents for tests.
 *
 * @module
 */

import { Agent, type AgentOptions } from "../../mod.ts";
import type { AcpClient, AcpHost, AcpSession } from "../../src/protocols/acp/mod.ts";

/** A host whose sessions have the agent of these options. */
export function createHost(
  options: (client: AcpClient) => Omit<AgentOptions, "model">,
  session: Partial<AcpSession> = {},
): AcpHost & { readonly sessions: AcpSession[] } {
  const sessions: AcpSession[] = [];
  return {
    name: "test",
    version: "1.0.0",
    sessions,
    createSession: ({ client }) => {
      const agent = new Agent({ model: "test/model", ...options(client) });
      const created = { id: `s${sessions.length + 1}`, agent, ...session };
      sessions.push(created);
      return Promise.resolve(created);
    },
  };
}
