// A story with OpenAI's SDK, whose Responses client talks to Rethread's agents.
import OpenAI from 'openai';

import {check, end, part, signedIn, url} from './checks.mjs';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const weather = {
  type: 'function', name: 'get_weather', description: 'The weather at a place', strict: true,
  parameters: {type: 'object', properties: {location: {type: 'string'}}, required: ['location'], additionalProperties: false},
};

async function newClient(options = {}) {
  const fetchImpl = await signedIn(); // it sends the user's own token
  return new OpenAI({baseURL: `${url}/v1`, apiKey: 'replaced', fetch: fetchImpl, ...options});
}

async function collect(stream, most = Infinity) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length >= most) break;
  }
  return events;
}

const deltas = (events) => events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join('');
const increase = (events) => events.every((e, i) => i === 0 || e.sequence_number > events[i - 1].sequence_number);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

async function story(model) {
  const client = await newClient();
  const say = (input, more = {}, options) => client.responses.create({model, input, ...more}, options);
  const asked = async (input, more) => JSON.parse((await say(input, more)).output_text);
  const expect = (what, passed, ...shown) => check(`${model}: ${what}`, passed, ...shown);
  const play = (name, body) => part(`${model}: ${name}`, body);

  async function fails(what, kind, call, wanted = {}) {
    try {
      expect(what, false, 'no error, but', await call());
    } catch (error) {
      expect(what, error instanceof kind, String(error));
      for (const [name, value] of Object.entries(wanted)) expect(`${what}: ${name}`, error[name] === value, name, error[name], error.error);
    }
  }

  async function until(id, ready) {
    for (let tries = 0; tries < 600; tries++) {
      const r = await client.responses.retrieve(id);
      if (ready(r)) return r;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never: ${id}`);
  }

  await play('an answer', async () => {
    const r = await say('hello there');
    expect('an answer', r.output_text === 'You said: hello there' && r.status === 'completed', r);
    expect('its tokens', r.usage.input_tokens === 11 && r.usage.output_tokens === 7, r.usage);
    expect('the same when retrieved', (await client.responses.retrieve(r.id)).output_text === r.output_text);
    const items = await collect(client.responses.inputItems.list(r.id));
    expect('its input', items.length === 1 && items[0].content[0].text === 'hello there', items);
  });

  await play('what the model gets', async () => {
    const content = [{type: 'input_text', text: 'report'}, {type: 'input_image', image_url: PNG, detail: 'auto'}];
    const got = await asked([{role: 'user', content}], {instructions: 'Be short.', tools: [weather], temperature: 0.5});
    expect('instructions', got.system.join().includes('Be short.'), got.system);
    expect('tools', same(got.tools, ['configured', 'get_weather']), got.tools);
    expect('an image', same(got.turns.at(-1).files, [PNG]), got.turns);
    expect('a parameter', got.more.temperature === 0.5, got.more);
  });

  await play('a stream', async () => {
    const events = await collect(await say('hello again', {stream: true}));
    expect('its text', deltas(events) === 'You said: hello again', deltas(events));
    expect('its order', events[0].type === 'response.created' && events.at(-1).type === 'response.completed' && increase(events), events.map((e) => e.type));
  });

  await play('the helper', async () => {
    const stream = client.responses.stream({model, input: 'What is the weather?', tools: [weather]});
    let args = '';
    stream.on('response.function_call_arguments.delta', (e) => void (args += e.delta));
    const r = await stream.finalResponse();
    expect('a call', r.output.at(-1).type === 'function_call' && r.output.at(-1).arguments === args, r.output, args);
    const again = client.responses.stream({response_id: r.id, tools: [weather]});
    expect('the helper by id', same((await again.finalResponse()).output.at(-1).call_id, r.output.at(-1).call_id));
  });

  await play('tools in a loop', async () => {
    let r = await say('What is the weather?', {tools: [weather]});
    let rounds = 0;
    for (; rounds < 5 && r.output.some((i) => i.type === 'function_call'); rounds++) {
      const outputs = r.output.filter((i) => i.type === 'function_call')
        .map((i) => ({type: 'function_call_output', call_id: i.call_id, output: JSON.stringify({degrees: 64, ...JSON.parse(i.arguments)})}));
      r = await say(outputs, {tools: [weather], previous_response_id: r.id});
    }
    expect('one round', rounds === 1 && r.output_text.includes('64') && r.output_text.includes('San Francisco'), rounds, r.output_text);
  });

  await play('turns and branches', async () => {
    const one = await say('code papaya');
    const two = await say('color red', {previous_response_id: one.id});
    const branch = await say('color blue', {previous_response_id: one.id});
    const told = await Promise.all([two, branch].map((r) => say('recall color', {previous_response_id: r.id})));
    expect('branches', same(told.map((r) => r.output_text), ['red', 'blue']), told.map((r) => r.output_text));
    await fails('a divergence that is refused', OpenAI.ConflictError, () => say('x', {previous_response_id: one.id, rethread: {on_divergence: 'reject'}}));
    const edited = await asked('report', {previous_response_id: one.id, rethread: {on_divergence: 'rewind'}});
    expect('a rewind', same(edited.turns.map((t) => t.text), ['code papaya', 'You said: code papaya', 'report']), edited.turns);
  });

  await play('a conversation', async () => {
    const c = await client.conversations.create({});
    await say('code papaya', {conversation: c.id});
    expect('it remembers', (await say('recall code', {conversation: c.id})).output_text === 'papaya');
    const items = await collect(client.conversations.items.list(c.id, {order: 'asc', limit: 3}));
    expect('its items', same(items.map((i) => i.role), ['user', 'assistant', 'user', 'assistant']), items);
    expect('newest first', same((await collect(client.conversations.items.list(c.id))).map((i) => i.id), items.map((i) => i.id).reverse()));
  });

  await play('in the background', async () => {
    const r = await say('endless', {background: true});
    await until(r.id, (now) => now.output_text?.includes('word'));
    expect('cancelled', (await client.responses.cancel(r.id)).status === 'cancelled');
    expect('it stays so', (await client.responses.retrieve(r.id)).status === 'cancelled');
    const done = await until((await say('hello', {background: true})).id, (now) => now.status === 'completed');
    expect('done', done.output_text === 'You said: hello', done);
  });

  await play('a stream that is cut', async () => {
    const seen = await collect(await say('long', {background: true, stream: true}), 5);
    const {id} = seen[0].response;
    let cuts = 0;
    for (; cuts < 100 && seen.at(-1).type !== 'response.completed'; cuts++) {
      seen.push(...await collect(await client.responses.retrieve(id, {stream: true, starting_after: seen.at(-1).sequence_number}), 3));
    }
    expect('its numbers', cuts > 1 && increase(seen) && seen.at(-1).type === 'response.completed', seen.at(-1));
    expect('its text', deltas(seen) === 'more '.repeat(60), deltas(seen));
    const helper = client.responses.stream({response_id: id, starting_after: seen[5].sequence_number});
    expect('the helper from the middle', (await helper.finalResponse()).output_text === 'more '.repeat(60));
  });

  await play('errors', async () => {
    await fails('an unknown model', OpenAI.NotFoundError, () => client.responses.create({model: 'nobody', input: 'x'}), {code: 'model_not_found', param: 'model'});
    await fails('store', OpenAI.BadRequestError, () => say('x', {store: false}), {param: 'store'});
    await fails('an unknown response', OpenAI.NotFoundError, () => client.responses.retrieve('resp_unknown'));
    const mine = await say('x');
    const other = await newClient();
    await fails('a foreign response', OpenAI.NotFoundError, () => other.responses.retrieve(mine.id));
    const stranger = new OpenAI({baseURL: `${url}/v1`, apiKey: 'x'});
    await fails('no token', OpenAI.AuthenticationError, () => stranger.responses.create({model, input: 'x'}));
    expect('a failed run', (await say('overflow')).status === 'failed');
  });

  await play('a lost answer', async () => {
    const fetchImpl = client.fetch;
    let sent = 0;
    const losing = client.withOptions({fetch: async (...args) => {
      const answer = await fetchImpl(...args);
      if (++sent === 1) throw new TypeError('the answer was lost');
      return answer;
    }});
    const c = await client.conversations.create({});
    const headers = {'Idempotency-Key': crypto.randomUUID()};
    const r = await losing.responses.create({model, input: 'hello', conversation: c.id}, {headers});
    const items = await collect(client.conversations.items.list(c.id));
    expect('sent twice, done once', sent === 2 && items.length === 2 && r.output_text === 'You said: hello', sent, items);
  });

  await play('models', async () => {
    const names = (await collect(client.models.list())).map((m) => m.id);
    expect('the models', names.includes(model) && names.includes('scripted'), names);
  });
}

await Promise.all([story('model-chat'), story('model-responses')]);
end();
