/**
 * A client of the draft of version 2 of the protocol, for a server of version 1.
 *
 * @module
 */

import type { AcpToolCallFields, AcpUpdate } from "./acp_update.ts";
import type { AcpPeer } from "./sdk_package.ts";
import { toV2Call, toV2Update } from "./to_v2.ts";

/** Converts messages to the client. */
export class PeerV2 implements AcpPeer {
  readonly #peer: AcpPeer;

  /** Creates it for a client. */
  constructor(peer: AcpPeer) {
    this.#peer = peer;
  }

  /** Sends an update. */
  async notify(method: string, params: object): Promise<void> {
    const { sessionId, update } = params as {
      readonly sessionId: string;
      readonly update: AcpUpdate;
    };
    for (const converted of toV2Update(update, () => crypto.randomUUID())) {
      await this.#peer.notify(method, { sessionId, update: converted });
    }
  }

  /** Asks for a permission, the only request that version 2 still has. */
  async request(
    method: string,
    params: object,
    options?: Parameters<AcpPeer["request"]>[2],
  ): Promise<unknown> {
    const { toolCall, ...rest } = params as { readonly toolCall: AcpToolCallFields };
    const { title = "Allow?" } = toolCall;
    const subject = { type: "tool_call", toolCall: toV2Call(toolCall) };
    return await this.#peer.request(method, { ...rest, title, subject }, options);
  }
}
