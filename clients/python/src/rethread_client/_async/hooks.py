"""Webhooks and automations."""

from __future__ import annotations

from typing_extensions import Unpack

from .._core.calls import Call, CallOptions, ChangeOptions, WriteOptions
from ..types import (
    Automation,
    AutomationChange,
    AutomationRequest,
    Delivery,
    SecretRotation,
    Webhook,
    WebhookChange,
    WebhookRequest,
    WebhookSecrets,
)
from .resource import AsyncList, AsyncResource

_AUTOMATION = "/automations/{}"
_WEBHOOK = "/webhooks/{}"


class AsyncAutomations(AsyncResource):
    """Runs that changes of sessions start."""

    def list(
        self, *, limit: int | None = None, cursor: str | None = None, **options: Unpack[CallOptions]
    ) -> AsyncList[Automation]:
        """The user's automations."""
        return self._list("/automations", (), {"limit": limit, "cursor": cursor}, options)

    async def create(self, automation: AutomationRequest, **options: Unpack[WriteOptions]) -> Automation:
        """Creates an automation."""
        call = Call(method="POST", path="/automations", json=automation, repeat="key")
        return await self._data(call, {**options})

    async def get(self, automation_id: str, **options: Unpack[CallOptions]) -> Automation:
        """Reads an automation."""
        return await self._data(Call(path=_AUTOMATION, params=(automation_id,)), {**options})

    async def update(
        self, automation_id: str, change: AutomationChange, **options: Unpack[ChangeOptions]
    ) -> Automation:
        """Replaces the given members."""
        call = Call(method="PATCH", path=_AUTOMATION, params=(automation_id,), json=change)
        return await self._data(call, {**options})

    async def delete(self, automation_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an automation."""
        call = Call(method="DELETE", path=_AUTOMATION, params=(automation_id,), repeat="delete")
        await self._done(call, {**options})


class AsyncWebhooks(AsyncResource):
    """Receivers of events."""

    def list(
        self, *, limit: int | None = None, cursor: str | None = None, **options: Unpack[CallOptions]
    ) -> AsyncList[Webhook]:
        """The user's webhooks."""
        return self._list("/webhooks", (), {"limit": limit, "cursor": cursor}, options)

    async def create(self, webhook: WebhookRequest, **options: Unpack[WriteOptions]) -> Webhook:
        """Creates a webhook."""
        call = Call(method="POST", path="/webhooks", json=webhook, repeat="key")
        return await self._data(call, {**options})

    async def get(self, webhook_id: str, **options: Unpack[CallOptions]) -> Webhook:
        """Reads a webhook."""
        return await self._data(Call(path=_WEBHOOK, params=(webhook_id,)), {**options})

    async def update(
        self, webhook_id: str, change: WebhookChange, **options: Unpack[ChangeOptions]
    ) -> Webhook:
        """Replaces the given members."""
        call = Call(method="PATCH", path=_WEBHOOK, params=(webhook_id,), json=change)
        return await self._data(call, {**options})

    async def delete(self, webhook_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a webhook."""
        call = Call(method="DELETE", path=_WEBHOOK, params=(webhook_id,), repeat="delete")
        await self._done(call, {**options})

    async def test(self, webhook_id: str, **options: Unpack[WriteOptions]) -> Delivery:
        """Sends a test message."""
        call = Call(method="POST", path=_WEBHOOK + "/test", params=(webhook_id,), repeat="key")
        return await self._data(call, {**options})

    async def secret(self, webhook_id: str, **options: Unpack[CallOptions]) -> WebhookSecrets:
        """The secret that signs messages, and earlier ones that still do."""
        return await self._data(Call(path=_WEBHOOK + "/secret", params=(webhook_id,)), {**options})

    async def rotate_secret(
        self, webhook_id: str, rotation: SecretRotation | None = None, **options: Unpack[WriteOptions]
    ) -> WebhookSecrets:
        """Replaces the secret."""
        call = Call(
            method="POST",
            path=_WEBHOOK + "/secret/rotate",
            params=(webhook_id,),
            json=rotation or {},
            repeat="key",
        )
        return await self._data(call, {**options})

    def deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncList[Delivery]:
        """Attempts to deliver messages."""
        query = {"limit": limit, "cursor": cursor}
        return self._list(_WEBHOOK + "/deliveries", (webhook_id,), query, options)

    async def delivery(self, webhook_id: str, delivery_id: str, **options: Unpack[CallOptions]) -> Delivery:
        """Reads a delivery."""
        path = _WEBHOOK + "/deliveries/{}"
        return await self._data(Call(path=path, params=(webhook_id, delivery_id)), {**options})

    async def replay(self, webhook_id: str, delivery_id: str, **options: Unpack[WriteOptions]) -> Delivery:
        """Sends a delivery again."""
        path = _WEBHOOK + "/deliveries/{}/replay"
        call = Call(method="POST", path=path, params=(webhook_id, delivery_id), repeat="key")
        return await self._data(call, {**options})
