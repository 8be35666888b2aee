/**
 * Types of requests in the official SDKs, in the form in which JSON has them.
 *
 * @module
 */

import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";
import type {
  Content,
  GenerationConfig,
  Tool,
  ToolConfig,
} from "@google/genai";
import type { ChatCompletionStreamRequest$Outbound } from "@mistralai/mistralai/models/components";
import type {
  ChatRequest,
  Message,
  Tool as OllamaTool,
  ToolCall,
} from "ollama";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";

/** Fields of Google's schemas that are 64-bit integers: numbers or texts in JSON. */
type Int64Field =
  | "minLength"
  | "maxLength"
  | "minItems"
  | "maxItems"
  | "minProperties"
  | "maxProperties";

/** A value in JSON: bytes are base64, and the members of an enumeration are texts. */
type Json<Value> = Value extends Uint8Array ? string
  : Value extends string ? `${Value}`
  : Value extends readonly (infer Item)[] ? readonly Json<Item>[]
  : Value extends object ? {
      [Key in keyof Value]:
        | Json<Value[Key]>
        | (Key extends Int64Field ? number : never);
    }
  : Value;

/** Fields for which Mistral's SDK sends a default. */
type DefaultedField = "index" | "prefix";

/** A value with optional fields where the SDK sends a default. */
type WithDefaults<Value> = Value extends readonly (infer Item)[]
  ? readonly WithDefaults<Item>[]
  : Value extends object ?
      & {
        [Key in keyof Value as Exclude<Key, DefaultedField>]: WithDefaults<
          Value[Key]
        >;
      }
      & {
        [Key in keyof Value as Extract<Key, DefaultedField>]?: WithDefaults<
          Value[Key]
        >;
      }
  : Value;

/** Body of a request to Anthropic's Messages API, with the sampling options of models before Claude 5. */
export type AnthropicBody = MessageCreateParamsStreaming & {
  temperature?: number;
  top_p?: number;
};
/** Body of a request to Bedrock's Converse API; the model id is part of the URL. */
export type BedrockBody = Json<Omit<ConverseStreamCommandInput, "modelId">>;
/** Body of a request to Google's `streamGenerateContent`. */
export type GoogleBody = Json<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
  serviceTier?: "flex" | "standard" | "priority";
}>;
/** Body of a request to Mistral's chat completions API. */
export type MistralBody = WithDefaults<ChatCompletionStreamRequest$Outbound>;
/** Body of a request to Ollama, with the fields of its server that the types of the SDK lack. */
export type OllamaBody = Omit<ChatRequest, "messages" | "tools"> & {
  truncate?: boolean;
  messages: (Omit<Message, "tool_calls"> & {
    tool_call_id?: string;
    tool_calls?: (ToolCall & { id?: string })[];
  })[];
  tools?: (Omit<OllamaTool, "function"> & {
    function: Omit<OllamaTool["function"], "parameters"> & {
      parameters: object;
    };
  })[];
};
/** Body of a request to OpenAI's chat completions API. */
export type ChatBody = ChatCompletionCreateParamsStreaming;
/** Body of a request to OpenAI's Responses API. */
export type ResponsesBody = ResponseCreateParamsStreaming;
