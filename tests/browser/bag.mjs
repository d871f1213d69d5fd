// Reads every message of a bag with @mcap/core and decodes it from the schemas in the bag:  node bag.mjs BAG
import { McapIndexedReader } from "@mcap/core";
import { open } from "node:fs/promises";
import { decompress } from "fzstd";
import { decoder, plain } from "./decode.mjs";

const file = await open(process.argv[2]);
const readable = {
  size: async () => BigInt((await file.stat()).size),
  read: async (offset, size) => {
    const buffer = new Uint8Array(Number(size));
    await file.read(buffer, 0, Number(size), Number(offset));
    return buffer;
  },
};
const zstd = (data, size) => decompress(data, new Uint8Array(Number(size)));
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers: { zstd } });
const decoders = new Map();
for (const channel of reader.channelsById.values()) {
  const schema = reader.schemasById.get(channel.schemaId);
  const decode = decoder({ encoding: channel.messageEncoding, schemaName: schema.name, schema: schema.data });
  decoders.set(channel.id, { topic: channel.topic, decode });
}
const found = { counts: {}, last: {}, ordered: true };
let time = -1n;
for await (const message of reader.readMessages()) {
  const { topic, decode } = decoders.get(message.channelId);
  found.counts[topic] = (found.counts[topic] ?? 0) + 1;
  const value = decode(message.data);
  found.ordered &&= message.logTime >= time;
  time = message.logTime;
  found.last[topic] = plain(value);
}
process.stdout.write(JSON.stringify(found));
