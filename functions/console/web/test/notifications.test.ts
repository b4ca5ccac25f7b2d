import { ValidationError } from 'rethread';
import { beforeEach, expect, test } from 'vitest';
import { addNotified, listA2ATasks, listNotified, removeNotified } from '../src/api/notifications';
import { A2ATasks } from '../src/store/a2a-tasks';
import { isOver, stateMark } from '../src/ui/settings/notifications/words';
import { FakeServer } from './fakes';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});

const wire = (id: string, more: object = {}) => ({
  id,
  contextId: 's',
  status: { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: '2026-11-26T02:00:00Z' },
  ...more,
});

test('the tasks of a chat are read from the agent, with what was asked', async () => {
  const history = [
    { role: 'ROLE_USER', parts: [{ text: 'Where' }, { data: {} }, { text: 'to?' }] },
    { role: 'ROLE_AGENT', parts: [{ text: 'Lisbon' }] },
  ];
  server.answer = () => [200, { tasks: [wire('t', { history })], nextPageToken: '5' }];
  const page = await listA2ATasks(server.api, 'team/writer', 's');
  expect(page).toEqual({
    data: [{ id: 't', state: 'input_required', time: 1_795_658_400_000, question: 'Where to?' }],
    next_cursor: '5',
  });
  expect(server.asked[0]).toMatchObject({
    path: '/a2a/team~writer/tasks',
    query: { contextId: 's', pageSize: '5' },
  });
  expect(server.asked[0]?.headers.get('A2A-Version')).toBe('1.0');
});

test('tasks are read page by page, and what they lack is no failure', async () => {
  server.answer = ({ query }) =>
    query.pageToken === '5'
      ? [200, { tasks: [wire('b'), { id: 'a' }], nextPageToken: '' }]
      : [200, { tasks: [wire('c'), wire('b')], nextPageToken: '5' }];
  const tasks = new A2ATasks(server.api, 'demo', 's');
  await tasks.refresh();
  await tasks.loadMore();
  expect(tasks.list.value.map(({ id }) => id).join('')).toBe('cba');
  expect(tasks.more.value).toBe(false);
  expect(tasks.list.value[2]).toEqual({ id: 'a', state: '', time: null, question: '' });
});

test('addresses are listed, added and removed', async () => {
  const config = { id: 'c', taskId: 't', url: 'https://a', authentication: { scheme: 'Bearer' } };
  server.answer = ({ method }) => [200, method === 'GET' ? { configs: [config] } : {}];
  const listed = await listNotified(server.api, 'demo', 't');
  expect(listed).toEqual([{ id: 'c', url: 'https://a', token: '', scheme: 'Bearer' }]);
  const plain = { url: 'https://b', token: '', scheme: '', credentials: '' };
  await addNotified(server.api, 'demo', 't', plain);
  await addNotified(server.api, 'demo', 't', {
    ...plain,
    token: 'x',
    scheme: 'B',
    credentials: 'y',
  });
  await removeNotified(server.api, 'demo', 't', 'c');
  expect(server.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['GET', '/a2a/demo/tasks/t/pushNotificationConfigs', null],
    ['POST', '/a2a/demo/tasks/t/pushNotificationConfigs', { url: 'https://b' }],
    [
      'POST',
      '/a2a/demo/tasks/t/pushNotificationConfigs',
      { url: 'https://b', token: 'x', authentication: { scheme: 'B', credentials: 'y' } },
    ],
    ['DELETE', '/a2a/demo/tasks/t/pushNotificationConfigs/c', null],
  ]);
});

test('the fields that an error names are those of the form', async () => {
  const fieldViolations = [{ field: 'authentication.scheme', description: 'must be one word' }];
  const details = [{ reason: 'INVALID_PARAMS' }, { fieldViolations }];
  server.answer = () => [400, { error: { code: 400, message: 'It is wrong', details } }];
  const adding = addNotified(server.api, 'demo', 't', {
    url: 'https://a',
    token: '',
    scheme: 'a b',
    credentials: 'c',
  });
  const error = await adding.then(null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(ValidationError);
  expect(error).toMatchObject({
    status: 400,
    message: 'It is wrong',
    errors: [{ pointer: '/authentication/scheme', detail: 'must be one word' }],
  });
});

test('states are in words, also those that are not known yet', () => {
  const task = (state: string) => ({ id: 't', state, time: null, question: '' });
  expect(stateMark(task('completed'))).toMatchObject({ text: 'Complete', kind: 'good' });
  expect(stateMark(task('auth_required')).text).toBe('auth_required');
  expect([isOver(task('failed')), isOver(task('input_required'))]).toEqual([true, false]);
});
