export declare function toText(stream: ReadableStream): Promise<string>;
