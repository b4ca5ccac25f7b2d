// Mastra's DynamoDB store: each message is an item of a thread. Carries out the commands of
// the benchmark, one JSON object a line; requests go to DYNAMODB_ENDPOINT, which counts them.

import { createInterface } from 'node:readline';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStore } from '@mastra/dynamodb';

const endpoint = process.env.DYNAMODB_ENDPOINT;
const region = 'us-east-1';
const tableName = 'mastra';
const resourceId = 'alice';

/** Creates the table as TABLE_SETUP.md of the package says. */
async function createTable() {
  const keys = (prefix) => [
    { AttributeName: `${prefix}pk`, KeyType: 'HASH' },
    { AttributeName: `${prefix}sk`, KeyType: 'RANGE' },
  ];
  const indexes = ['gsi1', 'gsi2'];
  await new DynamoDBClient({ endpoint, region }).send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['', ...indexes].flatMap(keys).map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys(''),
      GlobalSecondaryIndexes: indexes.map((name) => ({ IndexName: name, KeySchema: keys(name), Projection: { ProjectionType: 'ALL' } })),
    }),
  );
}

await createTable();
const store = new DynamoDBStore({ name: 'dynamodb', config: { id: 'bench', region, endpoint, tableName } });
const memory = await store.getStore('memory');

let made = 0;
let clock = Date.now();

/**
 * Returns a message, each of a later millisecond than the one before: threads are sorted by time.
 * It has its text twice, as Mastra's agents store it: their MessageList makes such messages of
 * questions and answers.
 */
function message(threadId, role, text, id = `message-${++made}`, createdAt = new Date(++clock)) {
  return { id, threadId, resourceId, role, type: 'v2', createdAt, content: { format: 2, parts: [{ type: 'text', text }], content: text } };
}

const threads = new Set();

async function create(threadId) {
  if (!threads.has(threadId)) {
    threads.add(threadId);
    const now = new Date();
    await memory.saveThread({ thread: { id: threadId, resourceId, title: 'A conversation', createdAt: now, updatedAt: now, metadata: {} } });
  }
}

async function messages(threadId) {
  return (await memory.listMessages({ threadId, perPage: false })).messages;
}

const actions = {
  async turn({ thread, question, answer }) {
    await create(thread);
    await memory.saveMessages({ messages: [message(thread, 'user', question), message(thread, 'assistant', answer)] });
  },
  async load({ thread }) {
    return (await messages(thread)).map((m) => m.content.parts.map((part) => part.text).join(''));
  },
  async rewind({ thread }) {
    await memory.deleteMessages((await messages(thread)).slice(-2).map((m) => m.id));
  },
  async fork({ thread, into }) {
    await create(into);
    const kept = (await messages(thread)).slice(0, -2);
    await memory.saveMessages({ messages: kept.map((m) => message(into, m.role, m.content.parts[0].text)) });
  },
  async stream({ thread, question, parts }) {
    await memory.saveMessages({ messages: [message(thread, 'user', question)] });
    const answer = message(thread, 'assistant', '');
    let text = '';
    for (const part of parts) {
      text += part;
      await memory.saveMessages({ messages: [message(thread, 'assistant', text, answer.id, answer.createdAt)] });
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let said;
  try {
    said = { texts: (await actions[command.do](command)) ?? [] };
  } catch (error) {
    console.error(error);
    said = { error: `${error.name}: ${error.message}` };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
